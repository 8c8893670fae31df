/** A range of seeds, for one worker to run. */
export interface SimulationPart {
  readonly from: number
  readonly count: number
}

/** The result of a range of seeds. */
export interface SimulationSum {
  schedules: number
  steps: number
  grants: number
  losses: number
  writes: number
  failures: { readonly seed: number; readonly check: string; readonly message: string; readonly svg: string }[]
}
