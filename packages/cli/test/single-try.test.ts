import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { casSubject } from '@leasehold/testing/cas-subject'
import { describe, expect, it } from 'vitest'
import { type RunRequest, runOnce, runUnderLease, runUnderPermit } from '../src/run/ways-to-run.js'

const ttl = 30_000

describe('leasehold run --try, over a store that cannot judge in one look', () => {
  const ways = {
    lease: { name: 'deploy', run: runUnderLease },
    permit: { name: 'deploy/0', run: (request: RunRequest) => runUnderPermit(request, 1) },
    once: { name: 'deploy/key', run: (request: RunRequest) => runOnce(request, 'key') },
  }

  it.each(Object.entries(ways))('says the --wait that is enough (%s)', async (_, { name, run }) => {
    const store = await (await casSubject.start(systemClock)).open(systemClock)
    await store.acquire({ name, owner: 'dead', grantId: 'dead', ttl }, new AbortableCall())
    const waiting = { begin: () => {}, end: () => {} }
    const around = { name: 'deploy', signals: { stop: new AbortController().signal } }
    const request = { store, leaseOptions: { heartbeatTimeout: ttl }, wait: 0, around, waiting }
    expect(await run(request as unknown as RunRequest)).toEqual({
      type: 'held',
      advice:
        'The cas store cannot tell a dead holder from a live one in one look: wait for longer than the ttl of the holder, ' +
        'such as --wait 31s',
    })
  })
})
