import { instrumentLeases, type LeaseInstrumentation } from '@leasehold/opentelemetry'

/** The group of a lease is the part of its name before the first slash: `import/customer-7` is of the group `import`. */
export function showLeasesByKind(): LeaseInstrumentation {
  return instrumentLeases({ group: (name) => name.split('/', 1)[0], linkTerms: (name) => name.startsWith('leader/') })
}
