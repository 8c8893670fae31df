import { AbortableCall, type CasEntry, type CasRegister, casStore } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { type RunRequest, runOnce, runUnderLease, runUnderPermit } from '../src/run/ways-to-run.js'

const ttl = 30_000

/** A store that keeps no times: challengers observe its records. */
function observed(): CasRegister<number> {
  const entries = new Map<string, CasEntry<number>>()
  const write = (name: string, record: CasEntry<number>['record']) => {
    const entry = { record, version: (entries.get(name)?.version ?? 0) + 1 }
    entries.set(name, entry)
    return entry
  }
  return {
    kind: 'map',
    read: async (name) => entries.get(name),
    create: async (name, record) => (entries.has(name) ? undefined : write(name, record)),
    replace: async (name, record, version) =>
      entries.get(name)?.version === version ? write(name, record) : undefined,
  }
}

describe('leasehold run --try, over a store that cannot judge in one look', () => {
  const ways = {
    lease: { name: 'deploy', run: runUnderLease },
    permit: { name: 'deploy/0', run: (request: RunRequest) => runUnderPermit(request, 1) },
    once: { name: 'deploy/key', run: (request: RunRequest) => runOnce(request, 'key') },
  }

  it.each(Object.entries(ways))('says the --wait that is enough (%s)', async (_, { name, run }) => {
    const store = casStore(observed())
    await store.acquire({ name, owner: 'dead', grantId: 'dead', ttl }, new AbortableCall())
    const waiting = { begin: () => {}, end: () => {} }
    const around = { name: 'deploy', signals: { stop: new AbortController().signal } }
    const request = { store, leaseOptions: { heartbeatTimeout: ttl }, wait: 0, around, waiting }
    expect(await run(request as unknown as RunRequest)).toEqual({
      type: 'held',
      advice:
        'The map store cannot tell a dead holder from a live one in one look: wait for longer than the ttl of the holder, ' +
        'such as --wait 31s',
    })
  })
})
