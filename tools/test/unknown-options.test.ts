import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { optionTakers } from '../conventions/option-takers.js'
import { filesBelow, packages } from '../workspaces.js'

/** Types of the public API without a constructor for users: the report shows them as classes. */
const typesOnly = ['AzureBlobLease', 'TurnWatches']

/** A program has no API. */
const libraries = packages().filter(({ manifest }) => manifest.bin === undefined)

const takers = libraries.map(({ id, folder }) => {
  const reports = filesBelow(folder, '.api.md').map((report) => readFileSync(report, 'utf8'))
  return { id, folder, names: reports.flatMap(optionTakers).filter((name) => !typesOnly.includes(name)) }
})

it.each(takers)(
  'each function and constructor of $id that takes options has a row in its test of unknown options',
  ({ folder, names }) => {
    const file = join(folder, 'test/unknown-options.test.ts')
    const table = names.length === 0 ? '' : readFileSync(file, 'utf8')
    const rows = new Set([...table.matchAll(/^ +\[\s*'(\w+)[.\w]*',/gm)].map(([, taker]) => taker))
    expect(names.filter((name) => !rows.has(name))).toEqual([])
  },
)

describe('takers of options', () => {
  it.each([
    ['export function createLease(store: LeaseStore, options?: CreateLeaseOptions): StoreLease;', ['createLease']],
    ['export class Cell {\n    constructor(name: string, input?: CellOptions);\n    read(): void;', ['Cell']],
    ['export class Lease {\n    constructor(store: Store, environment?: LeaseEnvironment);', ['Lease']],
    ['export function isLease(value: unknown): value is Lease;', []],
    ['export class Lease {\n    acquire(options?: AcquireOptions): Promise<boolean>;', []],
    ['export function providerFactory(options: ProviderOptions<D>): ProviderFactory;', []],
  ])('in %j', (report, names) => {
    expect(optionTakers(report)).toEqual(names)
  })
})
