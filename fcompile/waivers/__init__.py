"""Waivers: problems that somebody decided to live with, and said why.

Either a comment in the Framework's file (`comments`):

    pod:
      # fcompile: waive FC307: it serves until it is stopped by hand
      spec: ...

    # fcompile: waive FC307 spec.taskRoles[*].task.pod.spec: every role serves until it is stopped by hand

or an entry of the file `.fcompile-waivers.yaml` (`file`). Errors of reading a file cannot be waived, nor wrong types and
missing fields, nor problems of waivers themselves. A waiver that covers nothing is reported, so that waivers do not outlive their
reasons.

The readers return waivers; a `collection` matches them with the problems of a run.
"""

MARK = "fcompile:"
"""What a comment that is meant for us begins with."""
