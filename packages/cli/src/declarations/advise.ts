import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const advise = declareCommand({
  name: 'advise',
  summary: 'Choose durations from times, failures and costs',
  details:
    'A short ttl is renewed often, and a renewal that fails by bad luck may end a lease whose holder is well. A long ttl ' +
    'leaves the resource without a holder for longer after a crash. The advice is the ttl with the least cost of both.',
  operands: [],
  options: {
    operation: {
      type: 'duration',
      value: 'DURATION',
      description: 'The longest step between two checks (0)',
    },
    'round-trip': {
      type: 'duration',
      value: 'DURATION',
      description: 'A call to the store; required, or --measure',
    },
    measure: { type: 'switch', description: 'Take the round trip from the store, by reading' },
    failures: { type: 'number', value: 'COUNT', description: 'Crashes of a holder in an hour (0.01)' },
    'lost-cost': {
      type: 'number',
      value: 'COST',
      description: 'Of a lease lost though its holder was well (1)',
    },
    'down-cost': { type: 'number', value: 'COST', description: 'Of a second without a holder (1)' },
    'bad-luck': { type: 'number', value: 'PART', description: 'The part of renewals that fail by chance (0.001)' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    { line: 'leasehold advise --round-trip 20ms --operation 2s --failures 0.1', description: 'by hand' },
    { line: 'leasehold advise --measure --store redis://db --lost-cost 50', description: 'by the store' },
  ],
})
