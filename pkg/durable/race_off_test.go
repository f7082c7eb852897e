//go:build !race

package durable

const raceDetector = false
