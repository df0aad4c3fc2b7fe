"""The controller that runs Frameworks; installed and imported as `fcontroller`.

It observes Frameworks and what they own (`observe`), decides (`decide`, which is pure), and acts (`reconcile`, `act`).
"""
