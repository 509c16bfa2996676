"""What a role is told: header lines, titled sections, feedback of earlier attempts, the project's own rules."""
