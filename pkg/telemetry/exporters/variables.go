package exporters

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// checkVariables checks the variables of the exporters with these names. The
// error names the variable.
func checkVariables(traces, metrics, logs string) error {
	if traces != "" {
		if err := checkSampler(); err != nil {
			return err
		}
	}
	for _, s := range [][2]string{{"TRACES", traces}, {"METRICS", metrics}, {"LOGS", logs}} {
		if signal, exporter := s[0], s[1]; exporter == "otlp" {
			if err := checkOTLP(signal); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSampler checks the variables that configure sampling. OpenTelemetry
// itself would go on with all of them.
func checkSampler() error {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	sampler := os.Getenv(name)
	switch strings.ToLower(strings.TrimSpace(sampler)) {
	case "", "always_on", "always_off", "parentbased_always_on", "parentbased_always_off":
		return nil
	case "traceidratio", "parentbased_traceidratio":
	default:
		return fmt.Errorf("%s is %q; expected always_on, always_off or traceidratio, or one of them after parentbased_", name, sampler)
	}
	text := strings.TrimSpace(os.Getenv(arg))
	if text == "" {
		return nil
	}
	if ratio, err := strconv.ParseFloat(text, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("%s is %q; expected a number from 0 to 1, the share of traces that are kept", arg, text)
	}
	return nil
}

// checkOTLP checks the variables of the exporter otlp for one signal, such as
// "TRACES". OpenTelemetry itself leaves out what it cannot read, and writes the
// headers, which are secrets, to stderr.
func checkOTLP(signal string) error {
	protocol, name := ofSignal(signal, "PROTOCOL")
	if protocol != "" && protocol != "http/protobuf" && protocol != "grpc" {
		return fmt.Errorf("%s is %q; expected http/protobuf or grpc", name, protocol)
	}
	if endpoint, name := ofSignal(signal, "ENDPOINT"); endpoint != "" {
		u, err := url.Parse(endpoint)
		web := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
		socket := err == nil && u.Scheme == "unix" && protocol == "grpc"
		if !web && !socket {
			return fmt.Errorf("%s is not an address that begins with http:// or https://, such as http://localhost:4318", name)
		}
	}
	if headers, name := ofSignal(signal, "HEADERS"); !areHeaders(headers) {
		return fmt.Errorf("%s is not a list NAME=VALUE,NAME=VALUE, with blanks in values written as %%20", name)
	}
	if timeout, name := ofSignal(signal, "TIMEOUT"); timeout != "" {
		if n, err := strconv.Atoi(timeout); err != nil || n < 0 {
			return fmt.Errorf("%s is %q; expected a whole number of milliseconds", name, timeout)
		}
	}
	return nil
}

// ofSignal returns the value of a variable of OTLP, which is that of the signal
// where it has one, and the variable's name.
func ofSignal(signal, setting string) (text, name string) {
	name = "OTEL_EXPORTER_OTLP_" + signal + "_" + setting
	if text = strings.TrimSpace(os.Getenv(name)); text == "" {
		name = "OTEL_EXPORTER_OTLP_" + setting
		text = strings.TrimSpace(os.Getenv(name))
	}
	return text, name
}

// areHeaders reports whether text is a list of headers in the form of W3C Baggage.
func areHeaders(text string) bool {
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, v, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(v); !ok || strings.TrimSpace(name) == "" || err != nil {
			return false
		}
	}
	return true
}
