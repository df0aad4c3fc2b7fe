"""fcompile: a compiler for Framework resources (frameworkcontroller.microsoft.com/v1)."""
