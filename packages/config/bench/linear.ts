/** Measures time by input size. Prints a table and fails if a bound is exceeded. */
import { parseHocon } from '@leasehold/config'

const ROUNDS = 20
const MEGABYTE = 1_000_000
const MOST_A_MEGABYTE = 500
const MOST_TIMES = 2.2

function service(number: number): string {
  return `service-${number} {
  # Typical content: comments, units, lists, paths and substitutions.
  host = "host-${number}.example.org"
  port = ${8_000 + number}
  timeout = 30 seconds
  tags = [a, b, "c d"]
  url = "http://"\${service-${number}.host}":"\${service-${number}.port}
  nested.deep.enabled = true
}
`
}

function textOf(length: number): string {
  const services: string[] = []
  for (let size = 0; size < length; size += services.at(-1)?.length ?? 0) services.push(service(services.length))
  return services.join('')
}

function millisecondsFor(text: string): number {
  const start = performance.now()
  parseHocon(text, { env: {} }).toObject()
  return performance.now() - start
}

/** The mean of all rounds, so that the cost of garbage collection is included. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const [one, two] = [textOf(MEGABYTE), textOf(2 * MEGABYTE)]
const first = millisecondsFor(one)
const rounds = Array.from({ length: ROUNDS }, () => ({ one: millisecondsFor(one), two: millisecondsFor(two) }))
const times = mean(rounds.map((round) => round.two)) / mean(rounds.map((round) => round.one))
const warm = mean(rounds.map((round) => round.one))
const kept = first < MOST_A_MEGABYTE && times <= MOST_TIMES
console.log(`| HOCON, read and resolved | measured | bound | kept |
|---|---|---|---|
| 1 MB, the first in the process | ${Math.round(first)} ms | under ${MOST_A_MEGABYTE} ms | ${first < MOST_A_MEGABYTE ? 'yes' : '**no**'} |
| 1 MB, the mean afterwards | ${Math.round(warm)} ms | | |
| 2 MB, times as long as 1 MB | ${times.toFixed(2)} | at most ${MOST_TIMES} | ${times <= MOST_TIMES ? 'yes' : '**no**'} |`)
process.exitCode = kept ? 0 : 1
