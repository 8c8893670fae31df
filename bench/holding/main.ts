/**
 * The cost of held leases. Several processes hold leases in one store; `--kill` kills one of them afterwards:
 * `--store redis --leases 1000000 --processes 8 --minutes 10 --ttl 120 --kill`.
 *
 * `--growth all`, or some of `leases,processes,waiters,names`, measures how the cost grows instead, up to `--leases`.
 * `--write` keeps the figures of this store, and writes the page and the chart into `docs`.
 */
import { busyMachine, today } from '../support/machine.js'
import { type CommandLine, type Growth, readCommandLine } from './command-line.js'
import type { GrowthTimes } from './numbers/growth.js'
import { measureHandOver, measureLeaseCost, measureNames } from './numbers/growth.js'
import { measureHolding } from './numbers/holding.js'
import { growthSection } from './report/growth-section.js'
import { holdingSection } from './report/holding-section.js'
import { writeHoldingPage } from './report/page.js'
import { readResults, type StoreResults, writeResults } from './report/results.js'
import { withServer } from './servers/servers.js'

/** Leases of the table by processes. */
const SHARED_LEASES = 10_000

async function measureOnce(asked: CommandLine): Promise<void> {
  const { store, leases, processes, ttl, interval, isKilled, writes } = asked
  const task = { store, leases, processes, ttl, interval, measured: asked.minutes * 60_000, isKilled }
  const holding = await measureHolding(task)
  console.log(holdingSection(store, holding))
  if (!writes) return
  writeResults(store, { ...readResults(store), holding })
  writeHoldingPage()
}

/** Each figure is written as soon as it is measured. */
async function measureGrowth(asked: CommandLine): Promise<void> {
  const { store, growth, leases, ttl, interval, writes } = asked
  const times = { ttl, interval }
  const where = await withServer(store, ({ version }) => Promise.resolve(busyMachine(version)))
  console.error(where)
  let results: StoreResults = readResults(store)
  for (const name of growth) {
    const rows: unknown[] = []
    for (const size of sizesOf(name, leases)) {
      const startedAt = performance.now()
      const row = await measure(name, size, asked, times)
      rows.push(row)
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      console.error(`${store}, ${name} ${size}, ${seconds} s: ${JSON.stringify(row)}`)
      const head = { machine: where, date: today(), ...times }
      results = { ...results, growth: { ...results.growth, ...head, [name]: [...rows] } }
      if (writes) writeResults(store, results)
    }
  }
  console.log(growthSection(store, results))
  if (writes) writeHoldingPage()
}

function sizesOf(growth: Growth, leases: number): readonly number[] {
  if (growth === 'processes') return [1, 4, 16, 64]
  if (growth === 'waiters') return [1, 10, 100, 1_000, 10_000]
  const sizes = [10, 100, 1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= leases)
  return growth === 'names' ? [10, sizes.at(-1) ?? leases] : sizes
}

async function measure(growth: Growth, size: number, { store, processes }: CommandLine, times: GrowthTimes) {
  if (growth === 'leases') return await measureLeaseCost(store, size, Math.min(processes, size), times)
  if (growth === 'processes') return await measureLeaseCost(store, SHARED_LEASES, size, times)
  if (growth === 'waiters') return await measureHandOver(store, size, times)
  return await measureNames(store, size, times)
}

const asked = readCommandLine()
await (asked.growth.length > 0 ? measureGrowth(asked) : measureOnce(asked))
process.exit()
