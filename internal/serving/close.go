package serving

// Close ends what watches the lists of upstream servers.
func (s *Servers) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchLists(nil, nil)
}
