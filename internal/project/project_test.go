package project

import "testing"

func TestOnlyReleasesHaveAddresses(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.0":      URL + "/releases/download/v1.2.0/a.json",
		"v1.2.0-rc.1": URL + "/releases/download/v1.2.0-rc.1/a.json",
		"devel":       "", "": "", "v1.2": "", "v1.2.0+dirty": "",
		"v0.0.0-20261123202253-98e399f00000":        "",
		"v1.2.1-0.20261123202253-98e399f00000":      "",
		"v1.2.0-rc.1.0.20261123202253-98e399f00000": "",
	} {
		if got := Released(version, "a.json"); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}
