import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('readers that come and go share the partitions of a log, and each event is handled once', () => {
  expect(runExample('partitions')).toEqual({
    status: 0,
    lines: [
      '3 readers, 4 + 4 + 4 partitions',
      '2 readers, 6 + 6 partitions',
      '3 readers, 4 + 4 + 4 partitions',
      '1200 events handled, 0 of them twice',
    ],
    stderr: '',
  })
})
