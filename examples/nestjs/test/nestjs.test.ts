import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('two instances of a NestJS service run each @Cron tick once, and go on when the leader is killed', () => {
  expect(runExample('nestjs')).toEqual({
    status: 0,
    lines: [
      'both instances know the leader: true',
      'a follower is healthy: true',
      'booked under the lease of account 7, with a fencing token: true',
      'the leader was killed, and the other instance leads: true',
      '@Cron runs on, on the other instance: true',
      '0 ticks ran twice',
    ],
    stderr: '',
  })
})
