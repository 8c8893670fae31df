import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const verify = declareCommand({
  name: 'verify',
  summary: 'Check that a store keeps the rules of leases',
  details:
    'Runs the conformance laws of stores with several clients, under names of its own. It acquires, renews, breaks and ' +
    'releases leases there, touches no other name, and releases all of them at the end. Their records stay as long as the ' +
    'store keeps fencing tokens. The exit code is 1 if the store breaks a law.',
  operands: [],
  options: {
    family: { type: 'text', value: 'FAMILY', short: 'f', description: 'Only the laws of a family, such as exclusion' },
    ttl: { type: 'duration', value: 'DURATION', description: 'Of the leases (4s, or more); longer for a slow machine' },
    parallel: { type: 'count', value: 'COUNT', description: 'Laws at the same time (12)' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    { line: 'leasehold verify --store redis://db', description: 'in about a minute' },
    { line: 'leasehold verify -c application.conf --family fencing', description: 'one family' },
  ],
})
