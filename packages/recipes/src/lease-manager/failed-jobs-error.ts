import type { ProcessedJobs } from './job-run.js'

/** Some workers of `processEach` failed. `errors` has their errors, and `failed` has them by the keys of the jobs. */
export class FailedJobsError extends AggregateError {
  override readonly name = 'FailedJobsError'
  readonly failed: ReadonlyMap<string, unknown>
  /** The jobs that did not fail. */
  readonly processed: ProcessedJobs

  constructor(failed: ReadonlyMap<string, unknown>, processed: ProcessedJobs) {
    const keys = [...failed.keys()]
    const shown = keys.slice(0, 5).join("', '")
    const more = keys.length > 5 ? ` and ${keys.length - 5} more` : ''
    super([...failed.values()], `the workers of '${shown}'${more} failed: call processEach again to repeat these jobs`)
    this.failed = failed
    this.processed = processed
  }
}
