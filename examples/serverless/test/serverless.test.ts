import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('a process that was frozen for longer than its lease knows it in its first statement, and its late write is rejected', () => {
  const seen = (how: string) => [
    `frozen while ${how}, with a valid lease: true`,
    'in the first statement after the thaw, checkLease(): false',
    'a write that was sent anyway: rejected',
    'then the signal is aborted: true, run: LeaseLostError, reminders: by the second',
  ]
  expect(runExample('serverless')).toEqual({
    status: 0,
    lines: [...seen('blocked'), ...seen('awaiting')],
    stderr: '',
  })
})
