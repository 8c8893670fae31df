import type { Chart } from '../../support/chart.js'
import { shown, table } from '../../support/table.js'
import type { StoreKind } from '../holder/open-store.js'
import type { LeaseCost } from '../numbers/growth.js'
import { type StoreResults, titles } from './results.js'

/** By how much the cost of a lease may grow. */
const MOST_GROWTH = 1.2

/** The growth of one store: a table for each number that was measured. */
export function growthSection(kind: StoreKind, { growth }: StoreResults): string {
  if (growth === undefined) return ''
  const { machine, date, ttl, interval, leases, processes, waiters, names } = growth
  const lines = [
    `## ${titles[kind]}: growth`,
    '',
    `The ttl is ${shown(ttl / 1_000)} s, with a heartbeat every ${shown(interval / 1_000)} s. Times of the CPU are those of a lease for each`,
    `interval. Measured on ${date}: ${machine}.`,
    '',
  ]
  if (leases !== undefined) lines.push(costTable(kind, leases), '', ...growthOf(kind, leases), '')
  if (processes !== undefined) {
    lines.push(
      `${shown(processes[0]?.leases ?? 0)} leases, held by 1 process and by more:`,
      '',
      costTable(kind, processes),
      '',
    )
  }
  if (waiters !== undefined) {
    const rows = waiters.map(({ size, median, p99, load }) => [shown(size), shown(median), shown(p99), shown(load)])
    lines.push('From a release to the next grant, while others wait for the same name in one process:', '')
    lines.push(table('waiters | median, ms | p99, ms | load', rows), '')
  }
  if (names !== undefined) {
    const head = 'other names | cycle: median, ms | p99, ms | cycles a second | server CPU a cycle, µs'
    const rows = names.map(({ names: size, cycle, throughput, serverCpu, handOver }) => [
      ...[size, cycle.median, cycle.p99, throughput, serverCpu].map(shown),
      ...[handOver.median, handOver.p99, handOver.load].map(shown),
    ])
    lines.push(
      'Acquire and release (1 at a time, and 64 at a time), and the hand-over to 1 waiter, while other names are held:',
    )
    lines.push('', table(`${head} | hand-over: median, ms | p99, ms | load`, rows), '')
  }
  return lines.join('\n')
}

/** The bars of the cost by leases: nothing of a store that was not measured. */
export function growthCharts(kind: StoreKind, { growth }: StoreResults): readonly Chart[] {
  const { leases = [], waiters = [] } = growth ?? {}
  const chart = (title: string, figure: (cost: LeaseCost) => number): Chart => ({
    title: `${titles[kind]}: ${title}`,
    bars: leases.map((cost) => bar(`${shown(cost.leases)} leases`, figure(cost))),
  })
  const charts = [
    chart('client CPU of a lease for each heartbeat interval, µs', ({ clientCpu }) => clientCpu),
    ...(kind === 'local'
      ? []
      : [chart('server CPU of a lease for each heartbeat interval, µs', (cost) => cost.serverCpu)]),
    chart('heap of a lease, bytes', heapOf),
    {
      title: `${titles[kind]}: median from a release to the next grant, ms`,
      bars: waiters.map(({ size, median }) => bar(`${shown(size)} ${size === 1 ? 'waiter' : 'waiters'}`, median)),
    },
  ]
  return charts.filter(({ bars }) => bars.length > 0)
}

function bar(label: string, value: number) {
  return { label, value, ours: true }
}

function costTable(kind: StoreKind, costs: readonly LeaseCost[]): string {
  const server = (text: string): string[] => (kind === 'local' ? [] : [text])
  const head = ['leases | processes | client CPU, µs', ...server('server CPU, µs'), 'heap, bytes | in the store, bytes']
  const rows = costs.map((cost) => [
    ...[cost.leases, cost.processes, cost.clientCpu].map(shown),
    ...server(shown(cost.serverCpu)),
    ...[heapOf(cost), cost.stored, cost.delayP99, cost.lost, cost.load].map(shown),
  ])
  return table(`${head.join(' | ')} | delay p99, ms | lost | load`, rows)
}

/** Of few leases, what the measurement itself allocates is more than the leases. */
function heapOf({ leases, heap }: LeaseCost): number {
  return leases < 1_000 ? Number.NaN : heap
}

/** How the cost grows from 1,000 leases to the most, in a sentence. */
function growthOf(kind: StoreKind, costs: readonly LeaseCost[]): string[] {
  const first = costs.find(({ leases }) => leases === 1_000)
  const last = costs.at(-1)
  if (first === undefined || last === undefined || last.leases <= first.leases) return []
  const ratios: [string, number][] = [
    ['client CPU', last.clientCpu / first.clientCpu],
    ['heap', last.heap / first.heap],
    ['space in the store', last.stored / first.stored],
  ]
  if (kind !== 'local') ratios.push(['server CPU', last.serverCpu / first.serverCpu])
  const texts = ratios.map(([name, ratio]) => `${name} × ${shown(ratio)}`)
  const faults = ratios.filter(([, ratio]) => ratio > MOST_GROWTH).map(([name]) => name)
  const verdict = faults.length === 0 ? 'kept' : `missed by ${faults.join(' and ')}`
  return [
    `From 1,000 to ${shown(last.leases)} leases, a lease costs: ${texts.join(', ')}. The goal is × ${MOST_GROWTH} at most: ${verdict}.`,
  ]
}
