/** The odds of a next token under the sampler's dials. Logits are ranked anew by the engine, with no forward pass. */
import type { Likely, OddsSettings } from 'posttrain-engine';
import type { Lab } from './lab.svelte';

export class Odds {
    /** As the model has them, and as the dials make them: id to probability; what is left out cannot be drawn. */
    plain = $state.raw<Likely[]>([]);
    dialled = $state.raw(new Map<number, number>());
    private busy = false;
    private next: (() => Promise<void>) | undefined;

    /** Of many questions in a row only the newest is asked. */
    ask(lab: Lab, logits: Float32Array, dials: OddsSettings): void {
        this.next = async () => {
            const [plain, chosen] = await Promise.all([lab.engine.odds(logits), lab.engine.odds(logits, dials)]);
            this.plain = plain;
            this.dialled = new Map(chosen.map(({ id, p }) => [id, p]));
        };
        if (!this.busy) void this.work();
    }

    private async work(): Promise<void> {
        this.busy = true;
        for (let ask = this.next; ask; ask = this.next) {
            this.next = undefined;
            // A model that has gone away has no odds; what is shown goes with its view.
            await ask().catch(() => undefined);
        }
        this.busy = false;
    }
}
