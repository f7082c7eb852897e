package upstream

// logLevels are the levels of log messages, from the lowest (RFC 5424).
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
