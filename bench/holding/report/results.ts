import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { StoreKind } from '../holder/open-store.js'
import type { Latency, LeaseCost, NamesCost } from '../numbers/growth.js'
import type { Holding } from '../numbers/holding.js'

/** The figures of one store. Each number is replaced when it is measured again. */
export interface StoreResults {
  readonly holding?: Holding
  readonly growth?: {
    readonly machine: string
    readonly date: string
    readonly ttl: number
    readonly interval: number
    readonly leases?: readonly LeaseCost[]
    readonly processes?: readonly LeaseCost[]
    readonly waiters?: readonly Latency[]
    readonly names?: readonly NamesCost[]
  }
}

export const titles: Readonly<Record<StoreKind, string>> = {
  redis: 'Redis',
  postgres: 'PostgreSQL',
  etcd: 'etcd',
  local: 'Local',
}

export const kinds: readonly StoreKind[] = ['redis', 'postgres', 'etcd', 'local']

/** The figures that were written last; empty of a store that was never measured. */
export function readResults(kind: StoreKind): StoreResults {
  const file = fileOf(kind)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

export function writeResults(kind: StoreKind, results: StoreResults): void {
  mkdirSync(new URL('.', fileOf(kind)), { recursive: true })
  writeFileSync(fileOf(kind), `${JSON.stringify(results, rounded, 2)}\n`)
}

function fileOf(kind: StoreKind): URL {
  return new URL(`../measured/${kind}.json`, import.meta.url)
}

/** More digits say nothing. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
