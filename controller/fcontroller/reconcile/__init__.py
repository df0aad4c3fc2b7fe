"""Reconciling: what has happened to a Framework comes in, what is decided goes out.

`controller` follows all objects and gives each Framework a `reconciler`. Its `mailbox` takes in what was seen and what has become of its
writes; it decides (`decide`), and hands on what follows: actions to its `workers`, which `perform` them, the status to its `status_writer`,
the intent to its `attempt_intent`, Services to `services`.
"""
