package config

// server decodes "server".
func (d *decoder) server(n *Node) {
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
	s.httpAccess(out)
	out.MaxConcurrentCalls = s.count("maxConcurrentCalls")
	out.MaxConcurrentCallsPerCaller = s.count("maxConcurrentCallsPerCaller")
	out.MaxCallWait = s.duration("maxCallWaitMs")
}

// limits decodes "executionLimits".
func (d *decoder) limits(n *Node) {
	s := d.newSection(n, `"executionLimits"`, limitSettings, nil)
	l := Limits{s.count("maxNodeExecutions"), s.count("maxTotalExecutions"), s.duration("maxExecutionTimeMs"), s.count("maxCallDepth")}
	if n.Get("maxTotalExecutions") == nil {
		l.MaxTotalExecutions = max(l.MaxTotalExecutions, l.MaxNodeExecutions)
	}
	d.file.Limits = l
}
