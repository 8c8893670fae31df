import { freePort } from '@leasehold/testing/free-port'
import { metrics } from '@opentelemetry/api'
import type { MeterProvider } from '@opentelemetry/sdk-metrics'
import { expect, it, onTestFinished } from 'vitest'
import { showLeasesByKind } from './readme/groups.js'
import { showLeases } from './readme/prometheus.js'
import { leaseFields, publish } from './support/messages.js'
import { Telemetry } from './support/telemetry.js'

const acquired = { fencingToken: 1n, grantId: 'g', ttl: 2_000 }

it('the example shows the leases of this process to Prometheus', async () => {
  const port = await freePort()
  const leases = showLeases(port)
  onTestFinished(async () => {
    leases.disable()
    await (metrics.getMeterProvider() as MeterProvider).shutdown()
    metrics.disable()
  })
  publish('acquired', { ...leaseFields('invoice-4711'), ...acquired })
  const page = await (await fetch(`http://localhost:${port}/metrics`)).text()
  expect(page).toMatch(/^leasehold_lease_held\{store="memory",lease_group="invoice-\*".*\} 1$/m)
})

it('the example with groups takes the first part of the name', async () => {
  const telemetry = new Telemetry()
  metrics.setGlobalMeterProvider(telemetry.meterProvider)
  const leases = showLeasesByKind()
  onTestFinished(async () => {
    leases.disable()
    metrics.disable()
    await telemetry.shutdown()
  })
  publish('acquired', { ...leaseFields('import/customer-7'), ...acquired })
  expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ 'lease.group': 'import', value: 1 }])
})
