// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { partitions } from '../src/service.js'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('two processes share the partitions, and one has them all after the other was killed', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  start('berta')
  await time.advance(120_000)
  /** @param {string} owner */
  const partitionsOf = (owner) => new Set(saved.filter((entry) => entry.owner === owner).map(({ key }) => key))
  saved.length = 0
  await time.advance(10_000)
  assert.equal(partitionsOf('anna').size, partitions / 2)
  assert.equal(partitionsOf('berta').size, partitions / 2)

  anna.kill()
  await time.advance(4 * heartbeatTimeout)
  saved.length = 0
  await time.advance(10_000)
  assert.equal(partitionsOf('berta').size, partitions)
})

it('the next owner of a partition continues where the last one has stopped', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(20_000)
  await Promise.all([anna.stop(), time.advance(10_000)])
  const last = saved.filter(({ key }) => key === 'partition-3').at(-1)?.text
  start('berta')
  saved.length = 0
  await time.advance(60_000)
  const first = saved.find(({ key }) => key === 'partition-3')?.text
  const numberOf = (/** @type {string | undefined} */ text) => Number(text?.split(' ')[1])
  // The last entry is repeated if its position was not saved any more.
  assert.ok(numberOf(first) === numberOf(last) + 1 || first === last, `${last}, then ${first}`)
})
