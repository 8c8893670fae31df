import { cpus } from 'node:os'

/** One figure of a run, with the bound that it has to keep, if any. */
export interface Measurement {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
}

export function isKept({ value, atLeast, atMost }: Measurement): boolean {
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY)
}

/** The figures as a Markdown table, with the machine that they are of. */
export function toTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map((measurement) => {
    const { what, value, unit } = measurement
    const bound = boundOf(measurement)
    return `| ${what} | ${format(value)} ${unit} | ${bound} | ${bound === '' ? '' : isKept(measurement) ? 'yes' : '**no**'} |`
  })
  const [cpu] = cpus()
  const machine = `Node ${process.version}, ${process.platform}, ${cpus().length} × ${cpu?.model ?? 'unknown'}`
  return [machine, '', '| figure | measured | bound | kept |', '|---|---|---|---|', ...rows].join('\n')
}

function boundOf({ atLeast, atMost, unit }: Measurement): string {
  if (atLeast !== undefined) return `at least ${format(atLeast)} ${unit}`
  return atMost === undefined ? '' : `at most ${format(atMost)} ${unit}`
}

function format(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}
