import { type LeaseRecord, systemClock } from '@leasehold/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordOf, START, Town } from './town.js'

const kinds = [
  'leader-election',
  'schedule',
  'schedule-control',
  'semaphore',
  'read-write-lease',
  'partition-group',
  'once',
  'single-flight',
]

const sound: readonly LeaseRecord[] = [
  recordOf('sound/election', { recipe: 'leader-election' }),
  recordOf('sound/schedule', { recipe: 'schedule', plan: 'every 60000 ms from 1970-01-01T00:00:00.000Z' }),
  recordOf('sound/semaphore', { recipe: 'semaphore', permits: '2' }, { state: 'available' }),
  recordOf('sound/semaphore/1', {}),
  recordOf('sound/group/members/0', { recipe: 'partition-group', partitions: '2', share: 'h2' }),
]

describe('records that another program has written', () => {
  it('cost only their own view, and the views can be sent', () => {
    const text = fc.oneof(
      fc.constantFrom(
        '5',
        '-1',
        '1e9',
        'h999999999',
        '*',
        '{',
        '{}',
        '[]',
        'null',
        '"x"',
        '[{"id":"1"}]',
        'cron 0 0 30 2 * in UTC',
      ),
      fc.constantFrom(
        'every 0.5 ms from x',
        'every 1 ms from 1970-01-01',
        '{"due":5}',
        '2026-01-01T00:00:00Z',
        '100000',
      ),
      fc.string(),
      fc.anything(),
    )
    const keys = fc.constantFrom(
      ...['permits', 'readers', 'made', 'slots', 'next', 'rank', 'grantId', 'run', 'last', 'tick', 'plan'],
      ...['paused', 'skipped', 'requests', 'partitions', 'share', 'leaving', 'stays', '__proto__'],
    )
    const metadata = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .record({ recipe: fc.constantFrom(...kinds), rest: fc.dictionary(keys, text) })
          .map(({ recipe, rest }) => ({ ...rest, recipe })),
      },
      { weight: 1, arbitrary: fc.anything() },
    )
    const name = fc.oneof(
      fc.constantFrom(
        'a',
        'a/0',
        'a/1',
        'a/control',
        'a/resize',
        'a/candidates/0',
        'a/members/0',
        'a/members/1',
        'a/partitions/2',
        '/',
        '/0',
        'a/members/',
        '__proto__',
      ),
      fc.string(),
    )
    const owner = fc.constantFrom('', 'x', '<img onerror=alert(1)>')
    const state = fc.constantFrom('leased', 'expired', 'breaking', 'broken', 'available' as const)
    const damaged = fc
      .record({ name, metadata, owner, state })
      .map((fields) => recordOf(fields.name, fields.metadata, { owner: fields.owner, state: fields.state as 'leased' }))
    fc.assert(
      fc.property(fc.array(fc.array(damaged, { maxLength: 8 }), { minLength: 1, maxLength: 3 }), (listings) => {
        const { observer } = new Town()
        for (const records of listings) {
          const seen = observer.onListing([...records, ...sound], START)
          expect(seen.views.elections).toContainEqual(
            expect.objectContaining({ name: 'sound/election', leader: 'somebody' }),
          )
          expect(seen.views.schedules).toContainEqual(
            expect.objectContaining({ name: 'sound/schedule', next: START + 60_000 }),
          )
          expect(seen.views.semaphores).toContainEqual(
            expect.objectContaining({ name: 'sound/semaphore', inUse: [{ slot: 1, owner: 'somebody', token: '7' }] }),
          )
          expect(seen.views.groups).toContainEqual(expect.objectContaining({ name: 'sound/group', partitions: 2 }))
          expect(JSON.parse(JSON.stringify(seen.views))).toEqual(seen.views)
          for (const record of records) {
            seen.recipeOf(record.name)
            expect(seen.relatedTo(record.name)).not.toContain(record.name)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('that are none at all cost nothing', () => {
    const { observer } = new Town()
    const nonsense = [null, 5, {}, recordOf('x', null)]
    const { views } = observer.onListing([...(nonsense as LeaseRecord[]), ...sound], START)
    expect(views.elections).toMatchObject([{ name: 'sound/election' }])
  })

  it('of an unknown recipe, and plain leases, belong to none', () => {
    const { observer } = new Town()
    const records = ['constructor', '__proto__', 'toString', 'billing'].map((recipe, place) =>
      recordOf(`x/${place}`, { recipe }),
    )
    const { views, recipeOf } = observer.onListing([...records, recordOf('y', {})], START)
    expect(Object.values(views).flat()).toEqual([])
    for (const { name } of records) expect(recipeOf(name)).toBeUndefined()
  })

  it('of another recipe at the name of an election leave it without a leader', () => {
    const { observer } = new Town()
    const records = [
      recordOf('a', { recipe: 'schedule' }),
      recordOf('a/candidates/0', { recipe: 'leader-election', rank: '1', grantId: 'x' }),
    ]
    const { views, recipeOf } = observer.onListing(records, START)
    expect(views.elections).toMatchObject([{ name: 'a', candidates: [{ rank: 1 }] }])
    expect(views.schedules).toMatchObject([{ name: 'a' }])
    expect(recipeOf('a')).toEqual({ kind: 'schedule', name: 'a' })
  })
})

describe('10,000 records', () => {
  it('take little time, also when all of them belong to recipes', () => {
    const records: LeaseRecord[] = []
    for (let place = 0; place < 1_000; place += 1) {
      records.push(recordOf(`election/${place}`, { recipe: 'leader-election' }))
      records.push(recordOf(`election/${place}/candidates/0`, { recipe: 'leader-election', rank: '1', grantId: 'x' }))
      records.push(recordOf(`schedule/${place}`, { recipe: 'schedule', plan: `cron ${place % 60} 3 * * * in UTC` }))
      records.push(recordOf(`semaphore/${place}`, { recipe: 'semaphore', permits: '4' }))
      for (let slot = 0; slot < 4; slot += 1) records.push(recordOf(`semaphore/${place}/${slot}`, {}))
      records.push(recordOf(`group/${place}/members/0`, { recipe: 'partition-group', partitions: '32', share: 'h32' }))
      records.push(recordOf(`plain/${place}`, {}))
    }
    const { observer } = new Town()
    const first = observer.onListing(records, START)
    const copies = (): LeaseRecord[] => records.map((record) => ({ ...record, metadata: { ...record.metadata } }))
    const times = Array.from({ length: 10 }, () => {
      const listing = copies()
      const begun = systemClock.now()
      expect(observer.onListing(listing, START).views).toBe(first.views)
      return systemClock.now() - begun
    })
    // On a busy machine it takes longer: the limit is that of something quadratic.
    expect(Math.min(...times)).toBeLessThan(200)
  })
})
