import { declareCommand } from '../command-declaration.js'
import { outputOption } from './store-options.js'

export const durations = declareCommand({
  name: 'durations',
  summary: 'Show the durations for usual tasks',
  details: 'The names are those of `durations` in @leasehold/core. For figures of your own, see leasehold advise.',
  operands: [],
  options: outputOption,
  examples: [{ line: 'leasehold durations', description: 'as a table' }],
})
