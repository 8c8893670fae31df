/** A simulation broke a rule. The message shows the rule, the smallest plan that still breaks it, and its timeline. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError'
  readonly seed: number
  /** The rule, such as `exclusion`, or `failed-workload` where a workload rejected. */
  readonly check: string
  /** The smallest plan found that still breaks it, as a text: `simulate({ seed, plan })` runs it again. */
  readonly plan: string
  /** The run of that plan, in text. */
  readonly timeline: string
  /** Returns a drawing of the same run, for a file. */
  readonly svg: () => string

  constructor(
    message: string,
    failure: Pick<SimulationError, 'seed' | 'check' | 'plan' | 'timeline' | 'svg' | 'cause'>,
  ) {
    const { seed, check, plan, timeline, svg, cause } = failure
    super(message, cause === undefined ? undefined : { cause })
    this.seed = seed
    this.check = check
    this.plan = plan
    this.timeline = timeline
    this.svg = svg
  }
}
