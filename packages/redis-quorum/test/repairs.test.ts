import type { LeaseRecord } from '@leasehold/core'
import { LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { NAME, QuorumOfFakes } from './support/quorum-of-fakes.js'

/** A grant on three servers. The first has missed the update to `step: 2`, and the last has lost all its data. */
async function damaged() {
  const quorum = new QuorumOfFakes()
  const { store, members } = quorum.open()
  const grant = await quorum.granted(store, { metadata: { step: '1' } })
  quorum.server(0).state = 'dead'
  expect(await quorum.during(store.update(grant, { step: '2' }, quorum.call))).toEqual({ renewed: true })
  quorum.server(0).state = 'up'
  quorum.server(2).restart(0n)
  const beat = async (): Promise<LeaseRecord | undefined> => {
    expect(await quorum.during(store.renew(grant, quorum.call))).toEqual({ renewed: true })
    await quorum.clock.advance(3_000)
    return await quorum.server(2).store.read(NAME)
  }
  return { members, beat }
}

describe('the repair of a server that has lost a grant', () => {
  it('restores the latest metadata of a majority', async () => {
    const { beat } = await damaged()
    expect(await beat()).toMatchObject({ state: 'leased', metadata: { step: '2' } })
  })

  it('waits until a majority can be read: a single server may have missed an update', async () => {
    const { members, beat } = await damaged()
    const [, updated] = members
    if (updated === undefined) throw new Error('no server')
    const read = updated.read.bind(updated)
    updated.read = () => Promise.reject(new LeaseUnavailableError('reset'))
    expect(await beat()).toBeUndefined()
    updated.read = read
    expect(await beat()).toMatchObject({ state: 'leased', metadata: { step: '2' } })
  })
})
