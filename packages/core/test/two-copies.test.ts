import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const core = fileURLToPath(new URL('..', import.meta.url))

/** Prints a JSON object: the service has one copy of core, its library another. */
const SERVICE = `
import * as own from '@leasehold/core'
import { isPlainStoreLease } from '@leasehold/core/internal'
import * as library from 'library'
const { LeaseError, LeaseHeldError, LeaseLostError, createLease } = own
class OwnError extends LeaseLostError {}
const foreign = await library.lost()
const store = new library.MemoryLeaseStore()
await library.createLease(store, 'report').acquire()
const refused = await createLease(store, 'report').run(async () => {}).catch((error) => error)
class OwnLease extends library.StoreLease {}
const provider = new own.LeaseProvider({ jobs: { 'lease-class': 'memory' } }, { memory: library.memoryLease })
const configured = await provider.getLease('job', 'jobs')
const { store: shared } = await provider.getStore('job', 'jobs')
const losses = []
await configured.acquire({ onLost: ({ reason }) => losses.push(reason) })
await provider.close()
console.log(JSON.stringify({
  copies: own.LeaseError === library.LeaseError ? 1 : 2,
  lost: foreign instanceof LeaseLostError,
  any: foreign instanceof LeaseError,
  held: foreign instanceof LeaseHeldError,
  subclass: foreign instanceof OwnError,
  ownSubclass: new OwnError('x', { reason: 'expired' }) instanceof library.LeaseLostError,
  otherError: new Error('x') instanceof LeaseError,
  refused: refused instanceof library.LeaseHeldError,
  losses,
  store: shared instanceof library.MemoryLeaseStore,
  plain: [configured, new OwnLease(configured.settings, store)].map(isPlainStoreLease),
}))
`

const LIBRARY = `
import { createLease, MemoryLeaseStore } from '@leasehold/core'
export * from '@leasehold/core'
export async function lost() {
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'report')
  return await lease.run(() => lease.release()).catch((error) => error)
}
`

let folder: string

function install(copy: string): void {
  mkdirSync(copy, { recursive: true })
  for (const part of ['src', 'package.json']) cpSync(join(core, part), join(copy, part), { recursive: true })
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasehold-copies-'))
  const modules = join(folder, 'node_modules')
  install(join(modules, '@leasehold', 'core'))
  install(join(modules, 'library', 'node_modules', '@leasehold', 'core'))
  writeFileSync(join(modules, 'library', 'package.json'), '{ "type": "module", "exports": "./index.js" }')
  writeFileSync(join(modules, 'library', 'index.js'), LIBRARY)
  for (const name of ['eventemitter3', 'fastest-levenshtein', 'nanoid']) {
    symlinkSync(fileURLToPath(new URL(`../../../node_modules/${name}`, import.meta.url)), join(modules, name))
  }
  writeFileSync(join(folder, 'service.mjs'), SERVICE)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the service prints. */
function runService(): unknown {
  const options = ['--import', import.meta.resolve('tsx'), '--conditions', '@leasehold/source']
  return JSON.parse(execFileSync(process.execPath, [...options, join(folder, 'service.mjs')], { encoding: 'utf8' }))
}

describe('two copies of core in one process', () => {
  it('recognise the errors of each other with instanceof, and the leases of each other by their mark', () => {
    expect(runService()).toEqual({
      copies: 2,
      lost: true,
      any: true,
      held: false,
      subclass: false,
      ownSubclass: true,
      otherError: false,
      refused: true,
      // A provider closes the lease, and does not only release it.
      losses: ['closed'],
      store: true,
      plain: [true, false],
    })
  })
})
