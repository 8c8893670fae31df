import { createLease } from '@leasehold/core'
import { LeaderElection, type LeaderElectionOptions } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { recordOf, START, Town } from './town.js'

function candidate(town: Town, owner: string, more: Partial<LeaderElectionOptions> = {}): LeaderElection {
  const onElected = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  return town.started(new LeaderElection(town.store, { name: 'reports', owner, onElected, ...town.options, ...more }))
}

describe('the view of an election', () => {
  it('has the leader, its term and since when it leads, and the candidates, the best first', async () => {
    const town = new Town()
    await town.pass(1_000)
    candidate(town, 'anna', { rank: 9 })
    await town.pass(100)
    candidate(town, 'berta', { rank: 1 })
    candidate(town, 'carla', { rank: 5 })
    await town.pass(1_000)
    const { views, recipeOf, relatedTo } = await town.look()
    expect(views.elections).toEqual([
      {
        name: 'reports',
        leader: 'anna',
        term: expect.stringMatching(/^\d+$/),
        since: START + 1_000,
        waiters: 2,
        candidates: [
          { owner: 'carla', rank: 5, isReady: true },
          { owner: 'berta', rank: 1, isReady: true },
        ],
      },
    ])
    const names = (await town.records()).map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(3)
    for (const name of names) {
      expect(recipeOf(name)).toEqual({ kind: 'leader-election', name: 'reports' })
      expect(relatedTo(name)).toEqual(names.filter((other) => other !== name).sort())
    }
  })

  it('has no leader once the name is free, and none of the candidates that have gone', async () => {
    const town = new Town()
    const anna = candidate(town, 'anna', { rank: 1 })
    await town.pass(1_000)
    await town.settled(anna.stop())
    const [view] = (await town.look()).views.elections
    expect(view).toMatchObject({ name: 'reports', candidates: [] })
    expect(view).not.toHaveProperty('leader')
    expect(view).not.toHaveProperty('since')
  })

  it('is the same object until something in it changes', async () => {
    const town = new Town()
    const anna = candidate(town, 'anna', { rank: 2 })
    candidate(town, 'berta', { rank: 1 })
    createLease(town.store, 'other', town.options)
    await town.pass(1_000)
    const first = await town.look()
    await town.pass(3_000)
    const second = await town.look()
    expect(second.views).toBe(first.views)
    expect(second.recipeOf('reports')).toBe(first.recipeOf('reports'))
    await town.settled(anna.stop())
    await town.pass(100)
    const third = await town.look()
    expect(third.views.elections).not.toBe(first.views.elections)
    expect(third.views.elections).toMatchObject([{ leader: 'berta' }])
    expect(third.views.schedules).toBe(first.views.schedules)
  })

  it('shows a candidate whose heartbeats do not arrive as not ready', () => {
    const { observer } = new Town()
    const metadata = { recipe: 'leader-election', rank: '3', grantId: 'x' }
    const late = { owner: 'late', remaining: 4_999 }
    const records = [
      recordOf('a/candidates/0', metadata, late),
      recordOf('a/candidates/1', { ...metadata, rank: '2' }),
      recordOf('a/candidates/2', metadata, { state: 'expired', remaining: 0 }),
    ]
    expect(observer.onListing(records, START).views.elections).toEqual([
      {
        name: 'a',
        candidates: [
          { owner: 'late', rank: 3, isReady: false },
          { owner: 'somebody', rank: 2, isReady: true },
        ],
      },
    ])
  })

  it('keeps its kind while the store does not know the metadata of a new holder yet', () => {
    const { observer } = new Town()
    const leader = recordOf('a', { recipe: 'leader-election' })
    observer.onListing([leader], START)
    const unknown = recordOf('a', {}, { owner: '', grantId: '', fencingToken: 8n })
    for (let look = 0; look < 2; look += 1) {
      const { views, recipeOf } = observer.onListing([unknown], START)
      expect(views.elections).toEqual([{ name: 'a', candidates: [] }])
      expect(recipeOf('a')).toEqual({ kind: 'leader-election', name: 'a' })
    }
    const plain = recordOf('a', {}, { fencingToken: 9n })
    expect(observer.onListing([plain], START).views.elections).toEqual([])
  })
})
