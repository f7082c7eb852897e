package config

// decodeServer decodes "server".
func decodeServer(d *decoder, n *Node) {
	out := &d.file.Server
	s := d.newSection(n, "the server", serverSettings, &out.Secrets)
	out.Name, out.Version = s.string("name"), s.string("version")
	if out.Title = s.string("title"); out.Title == "" {
		out.Title = out.Name
	}
	description := s.string("description")
	if out.Instructions = s.string("instructions"); out.Instructions == "" {
		out.Instructions = description
	}
	decodeHTTPAccess(s, out)
	out.MaxConcurrentCalls = s.count("maxConcurrentCalls")
	out.MaxConcurrentCallsPerCaller = s.count("maxConcurrentCallsPerCaller")
	out.MaxCallWait = s.duration("maxCallWaitMs")
}

// decodeLimits decodes "executionLimits"; of nil, it returns the defaults.
func decodeLimits(d *decoder, n *Node) Limits {
	s := d.newSection(n, `"executionLimits"`, limitSettings, nil)
	l := Limits{
		MaxNodeExecutions:  s.count("maxNodeExecutions"),
		MaxTotalExecutions: s.count("maxTotalExecutions"),
		MaxExecutionTime:   s.duration("maxExecutionTimeMs"),
		MaxCallDepth:       s.count("maxCallDepth"),
	}
	if n.Get("maxTotalExecutions") == nil {
		l.MaxTotalExecutions = max(l.MaxTotalExecutions, l.MaxNodeExecutions)
	}
	return l
}
