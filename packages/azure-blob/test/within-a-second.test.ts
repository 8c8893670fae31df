import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore, akkaBlobStore } from '@leasehold/azure-blob'
import type { LeaseStore } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { AkkaBlobRegister } from '../src/akka/akka-blob-register.js'
import { akkaPeers } from '../src/akka/akka-peers.js'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'
import { copyOfMetadata, snapshotOf } from './support/copies.js'
import { WholeSeconds } from './support/whole-seconds.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** A container of its own, and stores whose seconds the test lets pass. */
async function setUp() {
  const container = azurite.container(`second-${randomUUID()}`)
  await container.create()
  const seconds = new WholeSeconds()
  const timed = seconds.in(container)
  return {
    container,
    timed,
    seconds,
    open: () => new AzureBlobLeaseStore(timed, { clock: seconds.clock }),
    openAkka: () => akkaBlobStore(timed, { clock: seconds.clock }),
  }
}

async function tokenOf(store: LeaseStore): Promise<bigint> {
  const grant = await granted(store, 'job')
  await store.release(grant, never)
  return grant.fencingToken
}

function expectGrowing(tokens: readonly bigint[]): void {
  for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
}

describe('an older record that returns within the second of later grants', () => {
  it('makes no token repeat', async () => {
    const { container, open } = await setUp()
    const [one, other] = [open(), open()]
    const tokens = [await tokenOf(one)]
    const putBack = await copyOfMetadata(container.getBlockBlobClient('job'))
    tokens.push(await tokenOf(one), await tokenOf(other), await tokenOf(other))
    await putBack()
    tokens.push(await tokenOf(one), await tokenOf(one))
    await putBack()
    tokens.push(await tokenOf(open()))
    expectGrowing(tokens)
  })

  it('makes no token repeat at a hand-over', async () => {
    const { container, open } = await setUp()
    const grant = await granted(open(), 'job')
    const putBack = await copyOfMetadata(container.getBlockBlobClient('job'))
    const tokens = [grant.fencingToken]
    let holder = grant
    for (const owner of ['next', 'last']) {
      const changed = await open().change(holder, { grantId: randomUUID(), owner }, never)
      if (!changed.granted) throw new Error('not changed')
      holder = changed.grant
      tokens.push(holder.fencingToken)
      if (owner === 'next') await putBack()
    }
    expectGrowing(tokens)
  })

  it('makes no token repeat after an incomplete grant', async () => {
    const { container, open } = await setUp()
    const tokens = [await tokenOf(open())]
    const putBack = await copyOfMetadata(container.getBlockBlobClient('job'))
    await putBack()
    const claim = claimOf('job')
    await container.getBlockBlobClient('job').getBlobLeaseClient(claim.grantId).acquireLease(15)
    const outcome = await open().acquire(claim, never)
    if (!outcome.granted) throw new Error('not granted')
    tokens.push(outcome.grant.fencingToken)
    await open().release(outcome.grant, never)
    await putBack()
    tokens.push(await tokenOf(open()))
    expectGrowing(tokens)
  })

  it("makes no token repeat with Akka's layout, though the holder of the returned record releases it", async () => {
    const { container, openAkka } = await setUp()
    const [one, other] = [openAkka(), openAkka()]
    const first = await granted(one, 'job')
    const putBack = await snapshotOf(container, 'job')
    await one.release(first, never)
    const tokens = [first.fencingToken, await tokenOf(other), await tokenOf(other)]
    await putBack()
    // As it believes: it knows nothing of the grants in between.
    await one.release(first, never)
    tokens.push(await tokenOf(one), await tokenOf(other))
    await putBack()
    await one.release(first, never)
    tokens.push(await tokenOf(openAkka()))
    expectGrowing(tokens)
  })
})

describe('a pause', () => {
  it('comes before the first grant of a name, and before one right after a write of another process', async () => {
    const { open, seconds } = await setUp()
    const [one, other] = [open(), open()]
    await tokenOf(one)
    expect(seconds.pauses).toBe(1)
    for (let grants = 0; grants < 3; grants += 1) await tokenOf(one)
    expect(seconds.pauses).toBe(1)
    await tokenOf(other)
    expect(seconds.pauses).toBe(2)
    seconds.pass()
    await tokenOf(one)
    expect(seconds.pauses).toBe(2)
  })

  it('comes before neither a refusal nor a repeated request', async () => {
    const { open, seconds } = await setUp()
    const claim = claimOf('job')
    expect(await open().acquire(claim, never)).toMatchObject({ granted: true })
    expect(await open().acquire(claimOf('job'), never)).toMatchObject({ granted: false })
    expect(await open().acquire(claim, never)).toMatchObject({ granted: true })
    expect(seconds.pauses).toBe(1)
  })
})

describe("the time of a version in Akka's layout", () => {
  it('is that of the version that was asked for, not of one that was read before', async () => {
    const { timed, seconds } = await setUp()
    const open = () => new AkkaBlobRegister(timed, true, akkaPeers(), seconds.clock, undefined)
    const [register, other] = [open(), open()]
    const record = { owner: '', grantId: 'g', fencingToken: 5n, ttl: 1_000, revision: 0, metadata: {} }
    const first = await other.create('job', record, never)
    await register.read('job', never)
    seconds.pass(10)
    const second = await other.replace('job', { ...record, revision: 1 }, first?.version ?? '', never)
    const earliest = BigInt(seconds.clock.now())
    expect(await register.timeAfter('job', second?.version ?? '', never)).toBe(earliest + 1_000n)
    expect(seconds.pauses).toBe(1)
  })
})
