"""What fcompile reads and what it prints, declared as pydantic models.

Field tables, schemas and pages are generated from them, and the Python API has them. No command imports them: each would start later.
"""
