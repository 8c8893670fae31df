import {
  type LeaseFactory,
  type LeaseFactoryContext,
  LeaseUnavailableError,
  StoreLease,
  systemClock,
} from '@leasehold/core'
import { durationIn, switchIn, textIn } from './config-values.js'
import { KubernetesLeaseStore } from './kubernetes-lease-store.js'
import type { KubernetesLeaseStoreOptions } from './kubernetes-options.js'
import type { LayoutName } from './layouts/layout.js'

/** For how long the start-up check may take, in milliseconds: a server that is away must not hold up the start. */
const CHECK_TIMEOUT = 5_000

const makeLease: LeaseFactory = async (settings, context) => {
  const { clock, logger, share } = context
  const options = optionsIn(settings.options)
  // A clock that is not the machine's is a test's; the store's must then be the same.
  const time = clock === systemClock ? {} : { clock }
  const store = await share(`kubernetes:${JSON.stringify(options)}`, async () => {
    const opened = new KubernetesLeaseStore({ ...options, ...time, logger })
    if (switchIn('check-access', settings.options.checkAccess) ?? true) await check(opened, settings.name, context)
    return opened
  })
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in a Kubernetes cluster, what `lease-class = "@leasehold/kubernetes"` names: all leases of one
 * provider and one block share their store. The first one asks the server whether leases can be held at all, and rejects
 * with a `LeaseUnauthorisedError` or a `LeaseConfigurationError` where they cannot.
 */
export const kubernetesLease: LeaseFactory = Object.assign(makeLease, {
  optionKeys: [
    'layout',
    'namespace',
    'kubeconfigFile',
    'context',
    'serviceAccountFolder',
    'maxTtl',
    'watch',
    'jvmHeartbeatTimeout',
    'jvmHeartbeatInterval',
    'maxClockSkew',
    'checkAccess',
  ] satisfies (keyof KubernetesLeaseStoreOptions | 'checkAccess')[],
})

function optionsIn(block: Readonly<Record<string, unknown>>): KubernetesLeaseStoreOptions {
  return {
    layout: textIn('layout', block.layout) as LayoutName | undefined,
    namespace: textIn('namespace', block.namespace),
    kubeconfigFile: textIn('kubeconfig-file', block.kubeconfigFile),
    context: textIn('context', block.context),
    serviceAccountFolder: textIn('service-account-folder', block.serviceAccountFolder),
    maxTtl: durationIn('max-ttl', block.maxTtl),
    watch: switchIn('watch', block.watch),
    jvmHeartbeatTimeout: durationIn('jvm-heartbeat-timeout', block.jvmHeartbeatTimeout),
    jvmHeartbeatInterval: durationIn('jvm-heartbeat-interval', block.jvmHeartbeatInterval),
    maxClockSkew: durationIn('max-clock-skew', block.maxClockSkew),
  }
}

/** What cannot be found out now is found out by the first acquisition. */
async function check(store: KubernetesLeaseStore, name: string, { clock, logger }: LeaseFactoryContext): Promise<void> {
  const late = new AbortController()
  const reason = new LeaseUnavailableError(`no answer within ${CHECK_TIMEOUT} ms`, { store: 'kubernetes' })
  const cancel = clock.schedule(CHECK_TIMEOUT, () => late.abort(reason))
  try {
    for (const sentence of await store.checkAccess(name, late.signal)) logger.warn(sentence)
  } catch (error) {
    if (!(error instanceof LeaseUnavailableError)) {
      await store.close()
      throw error
    }
    logger.warn('whether leases can be held in the cluster could not be checked', error)
  } finally {
    cancel()
  }
}
