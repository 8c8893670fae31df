import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const breakCommand = declareCommand({
  name: 'break',
  summary: 'End a lease without its holder',
  details:
    'The holder loses the lease at its next heartbeat. Until the period is over, the name stays locked. ' +
    'Asks on a terminal; elsewhere, it needs --yes. If another owner becomes the holder meanwhile, nothing is changed.',
  operands: [{ name: 'NAME', description: 'The name of the lease' }],
  options: {
    period: {
      type: 'duration',
      value: 'DURATION',
      description: 'Lock the name for so long; else as the store does',
    },
    reason: { type: 'text', value: 'TEXT', description: 'Kept in the record until the next grant' },
    yes: { type: 'switch', short: 'y', description: 'Do not ask' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    { line: 'leasehold break backup', description: 'asks first' },
    { line: 'leasehold break backup --period 10s --reason stuck --yes', description: 'in a script' },
  ],
})
