import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { AbortableCall } from '@leasehold/core/store'
import { afterAll, describe, expect, it } from 'vitest'
import { type Column, cellsOf, LEASE_TABLE, USE_TABLE } from '../../core/test/memory/lease-blob-tables.js'
import { restFailureOf } from '../src/service-answer.js'
import { Azurite } from './support/azurite.js'
import { BlobScene, type Hand } from './support/blob-scene.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container(`tables-${randomUUID()}`)
await container.create()
const store = new AzureBlobLeaseStore(container)

/** The shortest of the service, where a lease has to expire, and the longest, where it must not. Milliseconds. */
const SHORT = 15_000
const LONG = 60_000

/** The service counts in seconds, and looks at its leases when it is asked. */
const EXPIRED = SHORT + 2_000

/** A new blob whose lease is in the state of a column. `expiring`: it expires within {@link EXPIRED}. */
async function sceneIn(column: Column, by: 'byStore' | 'byClient', expiring: boolean): Promise<BlobScene> {
  const scene = new BlobScene(store)
  const hand: Hand = scene[by]
  await scene.blob.upload('before', 6)
  if (column === 'available') return scene
  await hand.acquire('A', expiring || column === 'expired (A)' ? SHORT : LONG)
  if (column === 'available, released') await hand.release('A')
  if (column === 'breaking (A)') await hand.break(expiring ? 1_000 : 40_000)
  if (column === 'broken (A)') await hand.break(0)
  if (column === 'expired (A)') await pause(EXPIRED)
  return scene
}

type Act = (hand: Hand) => Promise<boolean>

const EXPIRES = 'duration expires'

/** The operations that the store also has. */
const ACTIONS: readonly (readonly [string, Act])[] = [
  ['acquire (A)', (hand) => hand.acquire('A', LONG)],
  ['acquire (B)', (hand) => hand.acquire('B', LONG)],
  ['break, period = 0', (hand) => hand.break(0)],
  ['break, period > 0', (hand) => hand.break(30_000)],
  ['break, no period', (hand) => hand.break()],
  ['change (A) to (B)', (hand) => hand.change('A', 'B')],
  ['change (B) to (A)', (hand) => hand.change('B', 'A')],
  ['change (B) to (C)', (hand) => hand.change('B', 'C')],
  ['renew (A)', (hand) => hand.renew('A')],
  ['renew (B)', (hand) => hand.renew('B')],
  ['release (A)', (hand) => hand.release('A')],
  ['release (B)', (hand) => hand.release('B')],
  [EXPIRES, () => pause(EXPIRED, true)],
]

const WITHOUT_ID = 'acquire, no proposed id'
const cells = cellsOf(LEASE_TABLE, new Map([[WITHOUT_ID, () => Promise.resolve(true)], ...ACTIONS]))

const USES: ReadonlyMap<string, (scene: BlobScene) => Promise<unknown>> = new Map([
  ['write with (A)', ({ blob, ids }) => blob.upload('after', 5, { conditions: { leaseId: ids.A } })],
  ['write with (B)', ({ blob, ids }) => blob.upload('after', 5, { conditions: { leaseId: ids.B } })],
  ['write, no lease id', ({ blob }) => blob.upload('after', 5)],
  ['read with (A)', ({ blob, ids }) => blob.getProperties({ conditions: { leaseId: ids.A } })],
  ['read with (B)', ({ blob, ids }) => blob.getProperties({ conditions: { leaseId: ids.B } })],
  ['read, no lease id', ({ blob }) => blob.getProperties()],
])

/** Where Azurite does not do as the reference says. Our store in memory does. */
const AZURITES: ReadonlyMap<string, string> = new Map([
  // Any id renews an expired lease, under its old id, which is in the answer.
  ['renew (B) | expired (A)', 'leased (A)'],
  // 412 LeaseIdMismatchWithBlobOperation: also in the service's list of error codes.
  ['write with (B) | leased (A)', '412'],
  ['read with (B) | leased (A)', '412'],
  ['read with (B) | breaking (A)', '412'],
])

function azuritesOf({ action, column, expected }: { action: string; column: Column; expected: string }): string {
  return AZURITES.get(`${action} | ${column}`) ?? expected
}

describe('the differences between Azurite and the reference', () => {
  it('are of cells that there are, and are differences', () => {
    const known = [...cells, ...cellsOf(USE_TABLE, USES)]
    for (const [cell, azurites] of AZURITES) {
      const found = known.find(({ action, column }) => `${action} | ${column}` === cell)
      expect(found?.expected).toBe('409')
      expect(azurites).not.toBe('409')
    }
  })
})

describe.concurrent('the life cycle of a lease, by the client of the service', () => {
  it.each(cells)('$action | $column → $expected', { timeout: 120_000 }, async (cell) => {
    const { action, act, column } = cell
    const scene = await sceneIn(column, 'byClient', action === EXPIRES)
    const { byClient } = scene
    const succeeded = action === WITHOUT_ID ? await byClient.acquireWithoutId() : await act(byClient)
    expect(succeeded ? await scene.endState() : '409').toBe(azuritesOf(cell))
    if (!succeeded) expect(await scene.endState()).toBe(column.replace(', released', ''))
  })
})

describe.concurrent('the life cycle of a lease, through the store', () => {
  const shown = cells.filter(({ action }) => action !== WITHOUT_ID)
  it.each(shown)('$action | $column → $expected', { timeout: 120_000 }, async ({ action, act, column, expected }) => {
    const scene = await sceneIn(column, 'byStore', action === EXPIRES)
    const before = await scene.store.read(scene.name, new AbortableCall())
    const succeeded = await act(scene.byStore)
    const after = await scene.store.read(scene.name, new AbortableCall())
    expect(succeeded ? await scene.endState() : '409').toBe(expected)
    // Azurite renews an expired lease under another id. The store does not undo it, but does not report it as held.
    if (!succeeded && !AZURITES.has(`${action} | ${column}`)) expect(after).toEqual(before)
    expect(String(await scene.blob.downloadToBuffer())).toBe('before')
  })
})

describe.concurrent('use of the blob, in states that the store has brought about', () => {
  it.each(cellsOf(USE_TABLE, USES))('$action | $column → $expected', { timeout: 120_000 }, async (cell) => {
    const { action, act, column } = cell
    const scene = await sceneIn(column, 'byStore', false)
    const status = await act(scene).then(
      () => '200',
      (error) => String(restFailureOf(error)?.statusCode ?? error),
    )
    const isWritten = action.startsWith('write') && status === '200'
    expect(String(await scene.blob.downloadToBuffer())).toBe(isWritten ? 'after' : 'before')
    expect(status === '200' ? await scene.endState() : status).toBe(azuritesOf(cell))
  })
})
