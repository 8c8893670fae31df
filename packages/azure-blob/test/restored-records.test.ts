import { randomUUID } from 'node:crypto'
import { AzureBlobGuard, AzureBlobLeaseStore, akkaBlobStore } from '@leasehold/azure-blob'
import { type LeaseStore, systemClock } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { granted, never } from './support/claims.js'
import { copyOfMetadata, snapshotOf } from './support/copies.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`restored-${randomUUID()}`)
await container.create()

/** A store as another process has it. */
const open = (): AzureBlobLeaseStore => new AzureBlobLeaseStore(container)

async function tokenOf(store: LeaseStore, name: string): Promise<bigint> {
  const grant = await granted(store, name)
  await store.release(grant, never)
  return grant.fencingToken
}

function expectGrowing(tokens: readonly bigint[]): void {
  for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
}

describe.concurrent('tokens, where an older record returns within the second of later grants', () => {
  it('grow over a snapshot that is copied back, and the rightful holder may write', async () => {
    const [one, other] = [open(), open()]
    const tokens = [await tokenOf(one, 'snapshot')]
    const putBack = await snapshotOf(container, 'snapshot')
    tokens.push(await tokenOf(one, 'snapshot'), await tokenOf(one, 'snapshot'))
    const guard = new AzureBlobGuard(container)
    const write = (token: bigint): Promise<unknown> => guard.write('snapshot data', token, `${token}`)
    await write(tokens.at(-1) ?? 0n)
    await putBack()
    tokens.push(await tokenOf(other, 'snapshot'))
    await write(tokens.at(-1) ?? 0n)
    tokens.push(await tokenOf(one, 'snapshot'))
    expectGrowing(tokens)
  })

  it('grow over an upload with metadata that was read earlier', async () => {
    const [one, other] = [open(), open()]
    const tokens = [await tokenOf(one, 'upload')]
    const { metadata = {} } = await one.blobOf('upload').getProperties()
    // Two grants of this process within one second, and the third of another.
    tokens.push(await tokenOf(one, 'upload'), await tokenOf(one, 'upload'), await tokenOf(other, 'upload'))
    await one.blobOf('upload').upload('stale', 5, { metadata })
    tokens.push(await tokenOf(one, 'upload'))
    await one.blobOf('upload').upload('stale', 5, { metadata })
    tokens.push(await tokenOf(other, 'upload'), await tokenOf(open(), 'upload'))
    expectGrowing(tokens)
  })

  it('grow at a hand-over', async () => {
    const store = open()
    const grant = await granted(store, 'change')
    const { metadata = {} } = await store.blobOf('change').getProperties()
    const changed = await open().change(grant, { grantId: randomUUID(), owner: 'next' }, never)
    if (!changed.granted) throw new Error('not changed')
    const conditions = { leaseId: changed.grant.grantId }
    await store.blobOf('change').setMetadata(metadata, { conditions })
    const again = await open().change(changed.grant, { grantId: randomUUID(), owner: 'last' }, never)
    if (!again.granted) throw new Error('not changed again')
    expectGrowing([grant.fencingToken, changed.grant.fencingToken, again.grant.fencingToken])
  })

  it('grow on containers', async () => {
    const service = azurite.service()
    const prefix = `r${randomUUID().slice(0, 8)}-`
    const openContainers = (): AzureBlobLeaseStore => new AzureBlobLeaseStore(service, { prefix })
    const store = openContainers()
    const tokens = [await tokenOf(store, 'job')]
    const putBack = await copyOfMetadata(service.getContainerClient(`${prefix}job`))
    tokens.push(await tokenOf(store, 'job'))
    await putBack()
    tokens.push(await tokenOf(openContainers(), 'job'))
    expectGrowing(tokens)
  })

  it("grow with Akka's layout", async () => {
    const [one, other] = [akkaBlobStore(container), akkaBlobStore(container)]
    const tokens = [await tokenOf(one, 'akka')]
    const putBack = await snapshotOf(container, 'akka')
    tokens.push(await tokenOf(one, 'akka'), await tokenOf(other, 'akka'))
    await putBack()
    tokens.push(await tokenOf(one, 'akka'))
    await putBack()
    tokens.push(await tokenOf(other, 'akka'), await tokenOf(one, 'akka'))
    expectGrowing(tokens)
  })

  it("grow with Akka's layout where the holder of a returned record releases it", async () => {
    const [one, other] = [akkaBlobStore(container), akkaBlobStore(container)]
    const first = await granted(one, 'akka-late')
    const putBack = await snapshotOf(container, 'akka-late')
    await one.release(first, never)
    const tokens = [first.fencingToken, await tokenOf(other, 'akka-late')]
    await putBack()
    // Its own record, as it believes: it knows nothing of the grant in between.
    await one.release(first, never)
    tokens.push(await tokenOf(one, 'akka-late'))
    expectGrowing(tokens)
  })
})

describe.concurrent('the time of the service', () => {
  it('is the least token of each grant, in milliseconds', async () => {
    const store = open()
    await tokenOf(store, 'timed')
    const { date } = await container.getProperties()
    const earliest = BigInt(date?.getTime() ?? Number.NaN) - 1_000n
    expect(await tokenOf(store, 'timed')).toBeGreaterThanOrEqual(earliest)
    await store.blobOf('timed').setMetadata({ leaseholdtoken: '7' })
    expect(await tokenOf(open(), 'timed')).toBeGreaterThanOrEqual(earliest)
  })

  it('costs no pause if this process wrote the last record', async () => {
    let pauses = 0
    const clock = {
      now: () => systemClock.now(),
      schedule: (delay: number, task: () => void) => {
        pauses += 1
        return systemClock.schedule(delay, task)
      },
    }
    const store = new AzureBlobLeaseStore(container, { clock })
    // The first time of a name, its blob was made by this very request.
    await tokenOf(store, 'own')
    expect(pauses).toBe(1)
    for (let grants = 0; grants < 5; grants += 1) await tokenOf(store, 'own')
    expect(pauses).toBe(1)
  })
})
