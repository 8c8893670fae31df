import { PartitionGroup } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { recordOf, START, Town } from './town.js'

describe('the view of a partition group', () => {
  it('has its members with their partitions and metadata, and stays the same while they do', async () => {
    const town = new Town()
    const create = (owner: string) =>
      new PartitionGroup(town.store, {
        ...town.options,
        name: 'orders',
        partitions: 4,
        owner,
        onAssigned: () => {},
        rebalanceInterval: 500,
        metadata: { address: `http://${owner}` },
      })
    const [anna, berta] = [town.started(create('anna')), create('berta')]
    berta.start()
    await town.pass(20_000)
    const first = await town.look()
    expect(first.views.groups).toMatchObject([{ name: 'orders', partitions: 4 }])
    const members = first.views.groups[0]?.members ?? []
    expect(members.map(({ owner }) => owner).sort()).toEqual(['anna', 'berta'])
    for (const [group, owner] of [
      [anna, 'anna'],
      [berta, 'berta'],
    ] as const) {
      expect(members.find((member) => member.owner === owner)).toEqual({
        owner,
        held: group.assigned,
        draining: [],
        claimed: [],
        isLeaving: false,
        metadata: { address: `http://${owner}` },
      })
    }
    expect(first.recipeOf('orders/partitions/3')).toEqual({ kind: 'partition-group', name: 'orders' })
    expect(first.relatedTo('orders/partitions/3')).toContain('orders/members/0')
    await town.pass(3_000)
    expect((await town.look()).views).toBe(first.views)
    await town.settled(berta.stop())
    await town.pass(5_000)
    expect((await town.look()).views.groups).toMatchObject([{ members: [{ owner: 'anna', held: [0, 1, 2, 3] }] }])
  })

  it('without members has the number of partitions of those before', () => {
    const { observer } = new Town()
    const metadata = { recipe: 'partition-group', partitions: '6', share: 'h6' }
    const { views } = observer.onListing([recordOf('a/members/0', metadata, { state: 'expired' })], START)
    expect(views.groups).toEqual([{ name: 'a', partitions: 6, members: [] }])
  })
})
