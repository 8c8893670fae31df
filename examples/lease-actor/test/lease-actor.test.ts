import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('the actors are Active one after the other; stash, retry and loss as in the documentation', () => {
  const { status, lines, stderr } = runExample('lease-actor')
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(lines).toEqual([
    'first: Active, token 1',
    'first: order 1',
    'second: AcquiringLease, 1 stashed, retries',
    'first resigns',
    'second: Active, token 2',
    'second: order 2',
    'the lease of second is broken',
    'second: AcquiringLease',
    'second: Active, token 3',
    'second: order 3',
  ])
})
