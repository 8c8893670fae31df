import { describeUnless } from './describe-unless.js'
import { prometheusProgram, promtoolProgram } from './prometheus-server.js'
import { redisProgram } from './redis-program.js'

/** Tests of rules that need only `promtool`: skipped where there is none. */
export function describePromtool(title: string, tests: () => void): void {
  describeUnless(promtoolProgram.whyNot, title, tests)
}

/** Tests in which a real Prometheus scrapes processes that use a real Redis: skipped where one of the two is missing. */
export function describePrometheus(title: string, tests: () => void): void {
  describeUnless(prometheusProgram.whyNot ?? redisProgram.whyNot, title, tests)
}
