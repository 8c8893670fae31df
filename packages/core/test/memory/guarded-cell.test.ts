import { LeaseConflictError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { GuardedCell } from '../../src/memory/guarded-cell.js'
import { cellsOf, USE_TABLE } from './lease-blob-tables.js'
import { grantOf, IDS, NAME, type Scene, sceneIn, stateOf, TTL } from './lease-states.js'

const ACTIONS: ReadonlyMap<string, (cell: GuardedCell<string>) => unknown> = new Map([
  ['write with (A)', (cell) => cell.write('after', { leaseId: IDS.A })],
  ['write with (B)', (cell) => cell.write('after', { leaseId: IDS.B })],
  ['write, no lease id', (cell) => cell.write('after')],
  ['read with (A)', (cell) => cell.read({ leaseId: IDS.A })],
  ['read with (B)', (cell) => cell.read({ leaseId: IDS.B })],
  ['read, no lease id', (cell) => cell.read()],
])

/** The status with which the blob would answer. */
function statusOf(use: () => unknown): '200' | '409' | '412' {
  try {
    use()
    return '200'
  } catch (error) {
    if (error instanceof LeaseConflictError) return '409'
    if (error instanceof LeaseLostError) return '412'
    throw error
  }
}

function cellIn({ store }: Scene): GuardedCell<string> {
  return new GuardedCell(store, NAME, 'before')
}

describe('a cell that is used under a lease', () => {
  it.each(cellsOf(USE_TABLE, ACTIONS))('$action | $column → $expected', async ({ action, act, column, expected }) => {
    const scene = await sceneIn(column)
    const cell = cellIn(scene)
    const before = await stateOf(scene)
    const status = statusOf(() => act(cell))
    const state = await stateOf(scene)
    expect(status === '200' ? state : status).toBe(expected)
    expect(cell.read()).toBe(action.startsWith('write') && status === '200' ? 'after' : 'before')
    if (status !== '200') expect(state).toBe(before)
  })
})

describe('why a cell refuses', () => {
  it.each([
    { column: 'available', leaseId: IDS.A, reason: 'deleted' },
    { column: 'available, released', leaseId: IDS.A, reason: 'expired' },
    { column: 'leased (A)', leaseId: undefined, reason: 'taken' },
    { column: 'breaking (A)', leaseId: IDS.B, reason: 'taken' },
    { column: 'broken (A)', leaseId: IDS.A, reason: 'broken' },
    { column: 'expired (A)', leaseId: IDS.A, reason: 'expired' },
  ] as const)('$column, write with $leaseId: $reason', async ({ column, leaseId, reason }) => {
    const scene = await sceneIn(column)
    const cell = cellIn(scene)
    const write = (): void => cell.write('after', leaseId === undefined ? {} : { leaseId })
    expect(write).toThrow(expect.objectContaining({ code: 'lost', reason, leaseName: NAME, store: 'memory' }))
  })

  it('the store is closed: unavailable', async () => {
    const scene = await sceneIn('leased (A)')
    await scene.store.close()
    expect(() => cellIn(scene).read()).toThrow(LeaseUnavailableError)
  })
})

describe('a write without lease id', () => {
  it.each(['broken (A)', 'expired (A)'] as const)('on %s forgets the old id', async (column) => {
    const scene = await sceneIn(column)
    cellIn(scene).write('after')
    expect(await scene.store.renew(grantOf('A'))).toMatchObject({ renewed: false })
    expect(await scene.store.release(grantOf('A'))).toEqual({ released: false })
    await expect(scene.store.break(NAME)).rejects.toThrow(LeaseConflictError)
  })

  it('does not reset the fencing token', async () => {
    const scene = await sceneIn('expired (A)')
    cellIn(scene).write('after')
    const outcome = await scene.store.acquire({ name: NAME, owner: 'A', grantId: IDS.A, ttl: TTL })
    expect(outcome).toMatchObject({ granted: true, grant: { fencingToken: 2n } })
  })
})

describe('a write under a fencing token', () => {
  it('is refused when a larger token was seen', async () => {
    const cell = cellIn(await sceneIn('available'))
    cell.writeFenced('by 2', 2n)
    expect(() => cell.writeFenced('by 1', 1n)).toThrow(expect.objectContaining({ code: 'lost', reason: 'taken' }))
    expect(cell.read()).toBe('by 2')
  })

  it('succeeds again and again under the same token, and under a larger one', async () => {
    const cell = cellIn(await sceneIn('available'))
    cell.writeFenced('first', 7n)
    cell.writeFenced('second', 7n)
    cell.writeFenced('third', 8n)
    expect(cell.read()).toBe('third')
  })

  it('is refused when a larger token was seen with a lease id', async () => {
    const scene = await sceneIn('expired (A)')
    const cell = cellIn(scene)
    await scene.store.acquire({ name: NAME, owner: 'B', grantId: IDS.B, ttl: TTL })
    cell.write('by B', { leaseId: IDS.B })
    expect(() => cell.writeFenced('by A', 1n)).toThrow(LeaseLostError)
    expect(cell.read()).toBe('by B')
  })
})
