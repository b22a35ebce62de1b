/** What is on the shelf, as last looked at. */
import type { Listed, Unreadable } from '../shelf/protocol';
import { room, type Room } from '../shelf/shelf';
import { inPlainWords } from './knobs';
import type { Keeper } from './keeper.svelte';

export class Listing {
    runs = $state.raw<Listed[]>([]);
    unreadable = $state.raw<Unreadable[]>([]);
    room = $state.raw<Room | undefined>();
    problem = $state('');
    looked = $state(false);
    private readonly keeper: () => Keeper;

    /** Made while a component is: it looks again whenever the shelf may look different. */
    constructor(keeper: () => Keeper) {
        this.keeper = keeper;
        $effect(() => {
            void keeper().version;
            void this.look();
        });
    }

    async look(): Promise<void> {
        const { whyNot, shelf } = this.keeper();
        if (whyNot) return;
        try {
            const { runs, unreadable } = await shelf.call('list', null);
            Object.assign(this, { runs, unreadable, room: await room(), problem: '' });
        } catch (error) {
            this.problem = `The saved runs cannot be listed. ${inPlainWords((error as Error).message)}`;
        }
        this.looked = true;
    }
}
