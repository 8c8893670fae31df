import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const watch = declareCommand({
  name: 'watch',
  summary: 'Print a line for each change of a lease',
  details:
    'The first line has the present state. A renewal is no change. With --output json, each line is a JSON value. ' +
    'Goes on when the store fails for a while.',
  operands: [{ name: 'NAME', description: 'The name of the lease' }],
  options: {
    interval: { type: 'duration', value: 'DURATION', description: 'The time between two looks (1s)' },
    lines: { type: 'count', value: 'COUNT', short: 'n', description: 'End after so many lines' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    { line: 'leasehold watch leader --store redis://db', description: 'until Ctrl-C' },
    { line: 'leasehold watch leader -o json -n 2 | tail -n 1', description: 'wait for the next change' },
  ],
})
