"""The doctor: is everything there that the work needs, and do the settings say what was meant?

It spends no tokens. One module for each group of checks; `diagnosis` puts them together and mends what can be mended.
"""

from __future__ import annotations

from swarmgate.automation.doctor.basics import examine
from swarmgate.automation.doctor.diagnosis import Diagnosis, diagnose
from swarmgate.automation.doctor.problem import Problem

__all__ = ["Diagnosis", "Problem", "diagnose", "examine"]
