import type { HeartbeatThreadOptions } from '@leasehold/heartbeat-thread'

/** With these, a thread runs the sources: the flags of this process are not enough, because tests are compiled otherwise. */
export const fromSource: HeartbeatThreadOptions = {
  execArgv: [
    '--import',
    `data:text/javascript,import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register()`,
    '--conditions',
    '@leasehold/source',
  ],
}
