import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('one of two processes polls, the next one goes on after a stop and after a kill, and there is no conflict', () => {
  expect(runExample('telegram-poller')).toEqual({
    status: 0,
    lines: [
      'without a lease: 1 conflict; anna polls no more, healthy: true',
      'with a lease: anna polls; berta waits, healthy: true',
      'one by anna, two by berta, three by carla',
      'conflicts: 0',
    ],
    stderr: '',
  })
})
