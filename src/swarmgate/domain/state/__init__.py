"""The state of a project and its projections: task life cycle, plan view, completed commits."""
