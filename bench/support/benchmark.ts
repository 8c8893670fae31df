import { parseArgs } from 'node:util'
import type { Chart } from './chart.js'
import { today } from './machine.js'
import { writeChart, writePage } from './page.js'

/** The result of one number, as it is printed, written and drawn. */
export interface NumberReport {
  readonly title: string
  /** Paragraphs and tables, in Markdown. */
  readonly body: string
  /** Goals of ours that were not reached, a sentence each. */
  readonly failures?: readonly string[]
  readonly charts?: readonly Chart[]
}

/** A server, and what is measured on it. */
interface Bench<Server> {
  readonly server: Server
  /** The programs and the machine, in one sentence. */
  readonly machine: string
  stop(): Promise<void>
}

/** Some numbers, by the names that `--only` takes. */
type Numbers<Server> = Readonly<Record<string, (server: Server) => Promise<NumberReport | readonly NumberReport[]>>>

/** A page in `docs`, and its template. */
export interface Page {
  /** Of the page and its chart, without an ending. */
  readonly name: string
  /** `<!-- measured -->`, `<!-- goals -->` and `<!-- figures -->` stand for what a run has measured. */
  readonly template: URL
  /** The title of the chart; without it, there is none. */
  readonly chart?: string
  /** The numbers that are on the page; all of them unless given. */
  readonly numbers?: readonly string[]
}

/**
 * Measures the numbers, prints them, and fails where a goal of ours is not reached. `--only overlap,cycles` measures some of
 * them, and `--write` writes the pages.
 */
export async function runBenchmark<Server>(
  numbers: Numbers<Server>,
  pages: readonly Page[],
  start: () => Promise<Bench<Server>>,
): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
  const asked = values.only?.split(',') ?? Object.keys(numbers)
  const unknown = asked.filter((name) => !Object.hasOwn(numbers, name))
  if (unknown.length > 0) throw new Error(`no such number: ${unknown.join(', ')}; there are ${Object.keys(numbers)}`)
  if (values.write && values.only !== undefined) throw new Error('a page is of one run: --write goes without --only')
  const bench = await start()
  const reports = new Map<string, readonly NumberReport[]>()
  try {
    console.log(bench.machine)
    for (const name of asked) {
      const begun = performance.now()
      const measured = [(await numbers[name]?.(bench.server)) ?? []].flat()
      for (const { title, body } of measured) console.log(`\n## ${title}\n\n${body}`)
      console.error(`\n(${name}: ${Math.round((performance.now() - begun) / 1_000)} s)`)
      reports.set(name, measured)
    }
  } finally {
    await bench.stop()
  }
  for (const page of values.write ? pages : []) {
    publish(
      page,
      bench.machine,
      (page.numbers ?? asked).flatMap((name) => reports.get(name) ?? []),
    )
  }
  const failures = [...reports.values()].flat().flatMap((report) => report.failures ?? [])
  for (const failure of failures) console.error(`Goal not reached: ${failure}`)
  // Some libraries go on for ever with what is under way.
  process.exit(failures.length === 0 ? 0 : 1)
}

function publish({ name, template, chart }: Page, machine: string, reports: readonly NumberReport[]): void {
  const failures = reports.flatMap((report) => report.failures ?? [])
  const missed = ['Goals that were not reached in this run:', '', ...failures.map((failure) => `- ${failure}`)]
  writePage(name, template, {
    measured: `Measured on ${today()}: ${machine}.`,
    goals: failures.length === 0 ? 'All goals were reached in this run.' : missed.join('\n'),
    figures: reports.map(({ title, body }) => `## ${title}\n\n${body.trimEnd()}`).join('\n\n'),
  })
  if (chart === undefined) return
  writeChart(
    name,
    chart,
    reports.flatMap((report) => report.charts ?? []),
  )
}
