import { createLease } from '@leasehold/core'
import { createLockManager, Once, TickClaims } from '@leasehold/recipes'
import { expect, it } from 'vitest'
import { MINUTE, START, Town } from './town.js'

it('the record of a key of Once has its recipe, and no view', async () => {
  const town = new Town()
  const once = new Once(town.store, { name: 'mails', ...town.options })
  await town.settled(once.run('order-7', async () => 'sent'))
  const { views, recipeOf, relatedTo } = await town.look()
  const [{ name } = { name: '' }] = await town.records()
  expect(recipeOf(name)).toEqual({ kind: 'once', name })
  expect(relatedTo(name)).toEqual([])
  expect(Object.values(views).flat()).toEqual([])
})

it('a lock of a lock manager is shown as a read-write lease, with its clients', async () => {
  const town = new Town()
  const locks = createLockManager(town.store, { name: 'locks', owner: 'anna', ...town.options })
  const held = locks.request('a/1', async () => {
    await town.pass(1_000)
    return (await town.look()).views.semaphores
  })
  expect(await town.settled(held)).toMatchObject([{ kind: 'read-write-lease', writer: 'anna', inUse: [] }])
})

it('the runs of a job of another scheduler are a schedule without a known next run', async () => {
  const town = new Town()
  const claims = new TickClaims(town.store, { ...town.options, owner: 'anna', now: () => new Date(town.wall) })
  await town.pass(MINUTE)
  const tick = await town.settled(claims.claim('nightly', new Date(START + MINUTE)))
  await town.settled(tick?.end() ?? Promise.resolve())
  const [view] = (await town.look()).views.schedules
  expect(view).toMatchObject({ plan: 'by another scheduler', runs: [{ due: START + MINUTE, outcome: 'done' }] })
  expect(view).not.toHaveProperty('next')
})

it('a plain lease belongs to no recipe', async () => {
  const town = new Town()
  await createLease(town.store, 'billing/0', { ...town.options }).acquire({ metadata: { recipe: 'mine' } })
  const { recipeOf, relatedTo } = await town.look()
  expect([recipeOf('billing/0'), relatedTo('billing/0'), recipeOf('nothing')]).toEqual([undefined, [], undefined])
})
