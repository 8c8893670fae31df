import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { type Grant, LeaseConflictError } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { restFailureOf } from '../src/service-answer.js'
import { Azurite } from './support/azurite.js'
import { never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/**
 * Outcomes of operations on a container, as the Lease Container reference has them: the state afterwards, or the status of the
 * refusal. A lease protects the container from deletion only.
 */
const TABLE = `
  operation              | available | leased (A) | infinite (A) | breaking (A) | broken (A) | expired (A)
  acquire (A)            | leased    | leased     | leased       | 409          | leased     | leased
  acquire (B)            | leased    | 409        | 409          | 409          | leased     | leased
  renew (A)              | 409       | leased     | leased       | 409          | 409        | leased
  renew (B)              | 409       | 409        | 409          | 409          | 409        | 409
  change (A) to (B)      | 409       | leased     | leased       | 409          | 409        | 409
  change (B) to (C)      | 409       | 409        | 409          | 409          | 409        | 409
  release (A)            | 409       | available  | available    | available    | available  | available
  release (B)            | 409       | 409        | 409          | 409          | 409        | 409
  break, period = 0      | 409       | broken     | broken       | broken       | broken     | broken
  break, period > 0      | 409       | breaking   | breaking     | breaking     | broken     | broken
  break, no period       | 409       | breaking   | broken       | breaking     | broken     | broken
  delete, no lease id    | deleted   | 412        | 412          | 412          | deleted    | deleted
  delete with (A)        | 412       | deleted    | deleted      | deleted      | 412        | 412
  delete with (B)        | 412       | 412        | 412          | 412          | 412        | 412
  read, no lease id      | available | leased     | leased       | breaking     | broken     | expired
  write a blob, no id    | available | leased     | leased       | breaking     | broken     | expired
`

const STATES = ['available', 'leased (A)', 'infinite (A)', 'breaking (A)', 'broken (A)', 'expired (A)'] as const

type State = (typeof STATES)[number]
type Letter = 'A' | 'B' | 'C'

const SHORT = 15_000
const LONG = 60_000

/** Azurite renews an expired lease under any id. The store reports it as refused: see the README. */
const AZURITES: ReadonlyMap<string, string> = new Map([['renew (B) | expired (A)', '409']])

/** A container with the lease name, and ids of its own. */
class ContainerScene {
  readonly name = `cell-${randomUUID()}`
  readonly ids: Readonly<Record<Letter, string>> = { A: randomUUID(), B: randomUUID(), C: randomUUID() }
  readonly container = azurite.container(this.name)
  readonly store = new AzureBlobLeaseStore(azurite.service(), { names: 'exact', metadata: false })

  async acquire(letter: Letter, ttl: number): Promise<boolean> {
    const request = { name: this.name, owner: letter, grantId: this.ids[letter], ttl }
    return (await this.store.acquire(request, never)).granted
  }

  async break(period?: number): Promise<boolean> {
    try {
      await this.store.break(this.name, period === undefined ? {} : { period }, never)
      return true
    } catch (error) {
      if (error instanceof LeaseConflictError) return false
      throw error
    }
  }

  async change(from: Letter, to: Letter): Promise<boolean> {
    return (await this.store.change(this.grantOf(from), { grantId: this.ids[to], owner: to }, never)).granted
  }

  grantOf(letter: Letter): Grant {
    return { name: this.name, owner: letter, grantId: this.ids[letter], fencingToken: 1n, ttl: LONG }
  }

  /** The state of the lease; `deleted` if the container is gone. */
  async state(): Promise<string> {
    return await this.container.getProperties().then(
      ({ leaseState = '' }) => leaseState,
      (error) => (restFailureOf(error)?.statusCode === 404 ? 'deleted' : String(error)),
    )
  }

  static async in(state: State): Promise<ContainerScene> {
    const scene = new ContainerScene()
    await scene.container.create()
    if (state === 'available') return scene
    const ttl = state === 'expired (A)' ? SHORT : state === 'infinite (A)' ? Number.POSITIVE_INFINITY : LONG
    if (!(await scene.acquire('A', ttl))) throw new Error('not granted')
    if (state === 'breaking (A)') await scene.break(40_000)
    if (state === 'broken (A)') await scene.break(0)
    if (state === 'expired (A)') await pause(SHORT + 2_000)
    return scene
  }
}

/** `false` is the 409 of the table; a request of the SDK rejects with its status. */
const OPERATIONS: ReadonlyMap<string, (scene: ContainerScene) => Promise<unknown>> = new Map<
  string,
  (scene: ContainerScene) => Promise<unknown>
>([
  ['acquire (A)', (scene) => scene.acquire('A', LONG)],
  ['acquire (B)', (scene) => scene.acquire('B', LONG)],
  ['renew (A)', async (scene) => (await scene.store.renew(scene.grantOf('A'), never)).renewed],
  ['renew (B)', async (scene) => (await scene.store.renew(scene.grantOf('B'), never)).renewed],
  ['change (A) to (B)', (scene) => scene.change('A', 'B')],
  ['change (B) to (C)', (scene) => scene.change('B', 'C')],
  ['release (A)', async (scene) => (await scene.store.release(scene.grantOf('A'), never)).released],
  ['release (B)', async (scene) => (await scene.store.release(scene.grantOf('B'), never)).released],
  ['break, period = 0', (scene) => scene.break(0)],
  ['break, period > 0', (scene) => scene.break(30_000)],
  ['break, no period', (scene) => scene.break()],
  ['delete, no lease id', ({ container }) => container.delete()],
  ['delete with (A)', ({ container, ids }) => container.delete({ conditions: { leaseId: ids.A } })],
  ['delete with (B)', ({ container, ids }) => container.delete({ conditions: { leaseId: ids.B } })],
  ['read, no lease id', (scene) => scene.store.read(scene.name, never)],
  ['write a blob, no id', ({ container }) => container.getBlockBlobClient('own').upload('text', 4)],
])

const [header = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

const cells = rows.flatMap(([operation = '', ...outcomes]) =>
  STATES.map((state, place) => ({ operation, state, expected: outcomes[place] ?? '' })),
)

it('the table has every operation in every state', () => {
  expect(header).toEqual(['operation', ...STATES])
  expect(rows.map(([operation]) => operation)).toEqual([...OPERATIONS.keys()])
  expect(cells.every(({ expected }) => expected !== '')).toBe(true)
})

describe.concurrent('a lease on a container, through the store', () => {
  it.each(cells)('$operation | $state → $expected', { timeout: 120_000 }, async ({ operation, state, expected }) => {
    const scene = await ContainerScene.in(state)
    const before = await scene.state()
    const answer = await OPERATIONS.get(operation)?.(scene).catch((error) => {
      const status = restFailureOf(error)?.statusCode
      if (status === undefined) throw error
      return status
    })
    const after = await scene.state()
    const outcome = answer === false ? '409' : typeof answer === 'number' ? String(answer) : after
    expect(outcome).toBe(expected)
    const isShown = operation.startsWith('read') && (expected === 'leased' || expected === 'breaking')
    if (isShown) expect(answer).toMatchObject({ state: expected })
    // A refusal changes nothing.
    if (/^4/.test(expected) && !AZURITES.has(`${operation} | ${state}`)) expect(after).toBe(before)
    await scene.store.close()
  })
})
